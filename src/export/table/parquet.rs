//! Encoding a table as a Parquet file, whose bytes are handed out as they come.

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::sync::Arc;

/// Largest row group, in rows.
const ROWS: usize = 1 << 20;
/// Row groups are closed at this size, in compressed bytes.
const BYTES: usize = 8 << 20;
/// Rows per page: a window of time, or a pid, is found by the pages' statistics.
const PAGE_ROWS: usize = 20_000;

/// A file that is being made.
pub(super) struct ParquetWriter {
    inner: ArrowWriter<Vec<u8>>,
    pub(super) name: String,
}

impl ParquetWriter {
    /// An empty table.
    pub(super) fn new(name: String, schema: &Arc<Schema>) -> Result<Self, ParquetError> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_max_row_group_row_count(Some(ROWS))
            .set_max_row_group_bytes(Some(BYTES))
            .set_data_page_row_count_limit(PAGE_ROWS)
            .set_created_by(concat!("rtrace ", env!("CARGO_PKG_VERSION")).to_owned());
        for field in schema.fields() {
            // Times rise by little; other numbers and all texts repeat.
            if matches!(field.name().as_str(), "ts" | "dur") && *field.data_type() == DataType::Int64 {
                let path = ColumnPath::from(field.name().as_str());
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            }
        }
        let inner = ArrowWriter::try_new(Vec::new(), Arc::clone(schema), Some(properties.build()))?;
        Ok(ParquetWriter { inner, name })
    }

    /// Adds rows.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        self.inner.write(batch)
    }

    /// The file's next bytes.
    pub(super) fn take(&mut self) -> Vec<u8> {
        // Only taken out: the writer counts what it was given.
        std::mem::take(self.inner.inner_mut())
    }

    /// The file's last bytes.
    pub(super) fn finish(self) -> Result<Vec<u8>, ParquetError> {
        self.inner.into_inner()
    }
}
